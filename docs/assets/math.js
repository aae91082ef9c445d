// Renders the formulas of a page with the bundled MathJax; a page without formulas does not load it.
if (document.querySelector(".arithmatex")) {
  window.MathJax = {
    tex: { inlineMath: [["\\(", "\\)"]], displayMath: [["\\[", "\\]"]] },
    options: { ignoreHtmlClass: ".*", processHtmlClass: "arithmatex", enableMenu: false },
    svg: { fontCache: "global" },
  };
  const script = document.createElement("script");
  script.src = new URL("mathjax/tex-svg.js", document.currentScript.src);
  document.head.append(script);
}
