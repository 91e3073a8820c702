/** Sections of the README that the home page shows, with their headings on it. */
const shown: readonly (readonly [heading: string, title: string])[] = [
  ['Record an agent with one line', 'Record an agent with one line'],
  ['Read sessions in a script', 'Read sessions in a script'],
  ['Run the service', 'Run the service'],
];

const introduction = `---
title: actlog
titleTemplate: See and control what your AI agents do with their tools
pageClass: home
sidebar: false
aside: false
editLink: false
prev: false
next: false
---

# See and control what your AI agents do with their tools

actlog records every tool call, checks it against policy before it runs, and holds it for approval if a policy says so.
Arguments never leave the process: only their hash does.

[Quick start](docs/quick-start.md) [Choose an adapter](docs/adapters.md) [Guard and approvals](docs/guard-and-approvals.md)
`;

/**
 * Returns the Markdown of the home page: an introduction and the README's own sections and snippets.
 *
 * @throws Error if the README lacks one of the sections.
 */
export function homePageText(readme: string): string {
  const parts = shown.map(([heading, title]) => `## ${title}\n${sectionOf(readme, heading)}`);
  return [introduction, ...parts].join('\n');
}

/** Returns the text below a second-level heading, up to the next one. */
function sectionOf(readme: string, heading: string): string {
  const start = readme.indexOf(`\n## ${heading}\n`);
  if (start === -1)
    throw new Error(`README.md has no section "${heading}", which the home page of the docs shows.`);
  const text = readme.slice(start + `\n## ${heading}\n`.length);
  const end = text.search(/^## /m);
  return end === -1 ? text : text.slice(0, end);
}
