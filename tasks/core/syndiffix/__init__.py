"""SynDiffix: sticky noise, suppression and flattening over a forest of histogram trees."""
