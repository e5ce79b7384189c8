"""Reports of a source to hand on: HTML, Markdown, SVG and JSON."""
