"""Charts as SVG: for the published page, and as files of their own.

Here: axes, marks, legends, figures in; text out. What is drawn, and what is said of it, belongs to who draws.
"""
