/** Files that the bundler reads. */
declare module "*.css";
