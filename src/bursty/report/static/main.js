"use strict";
document.documentElement.classList.add("js");
startTabs();
startTheme();
if (data.documents) startTable();
if (data.lookup) startWords();
if (data.topics) startTopics();
if (data.tree) startTree();
drawAll();
let lastWidth = innerWidth;
addEventListener("resize", later(200, () => {
  if (innerWidth !== lastWidth) drawAll();
  lastWidth = innerWidth;
}));
