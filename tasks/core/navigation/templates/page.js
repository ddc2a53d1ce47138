(() => {
  const filter = document.getElementById("filter");
  if (filter) {
    const cards = [...document.querySelectorAll("#columns .card")];
    const told = document.getElementById("filtered");
    filter.addEventListener("input", () => {
      const wanted = filter.value.trim().toLowerCase();
      let shown = 0;
      for (const card of cards) {
        card.hidden = !card.dataset.name.includes(wanted);
        shown += card.hidden ? 0 : 1;
      }
      told.textContent = wanted ? `${shown} of ${cards.length}` : "";
    });
  }
  for (const figure of document.querySelectorAll("figure")) {
    const chart = figure.querySelector("svg");
    const caption = figure.querySelector("figcaption");
    if (!chart || !caption) continue;
    const save = document.createElement("button");
    save.type = "button";
    save.textContent = "Save as SVG";
    save.className = "save";
    save.addEventListener("click", () => {
      const text = new XMLSerializer().serializeToString(chart);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
      link.download = "chart.svg";
      link.click();
      URL.revokeObjectURL(link.href);
    });
    caption.append(save);
  }
  const links = new Map([...document.querySelectorAll(".contents a")].map((a) => [a.hash.slice(1), a]));
  if ("IntersectionObserver" in window) {
    const watcher = new IntersectionObserver((seen) => {
      for (const entry of seen) {
        if (!entry.isIntersecting) continue;
        for (const link of links.values()) link.removeAttribute("aria-current");
        links.get(entry.target.id)?.setAttribute("aria-current", "true");
      }
    }, { rootMargin: "-10% 0px -80% 0px" });
    for (const id of links.keys()) watcher.observe(document.getElementById(id));
  }
})();
