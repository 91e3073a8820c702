import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sections } from '../site/navigation.ts';
import { pagesFolder, websiteFolder } from './repository.ts';
import { resolveHref } from './site-links.ts';
import { pagePathOf, pageSources } from './stage-pages.ts';
import { typescriptFolder } from './typescript-pages.ts';

/** File that names all pages for programs that read documentation (https://llmstxt.org). */
export const pageListFile = 'llms.txt';

/**
 * Writes each guide and README, and the HTTP reference, as Markdown beside its page, and the list of them. Links between
 * them lead to Markdown.
 *
 * VitePress leaves this to plugins, which copy links as they are: ours lead to files of the repository.
 */
export async function writeMarkdownPages(): Promise<void> {
  const sources = pageSources();
  const lines = [
    '# actlog',
    '',
    '> Records every tool call of AI agents, checks it against policy before it runs, holds it for approval, scores its risk,',
    '> and keeps a record that an outsider can verify. The SDK is for TypeScript; the service has an HTTP API.',
  ];
  for (const { text: section, groups } of sections) {
    for (const { text: group, pages } of groups) {
      const listed = pages.filter(({ source }) => !source.startsWith(`${typescriptFolder}/`));
      if (listed.length === 0) continue;
      lines.push('', `## ${section === group ? section : `${section}: ${group}`}`, '');
      for (const { source, text } of listed) {
        const page = pagePathOf(source) as string;
        const markdown = linkedMarkdown(await readFile(join(pagesFolder, page), 'utf8'), {
          page,
          source: sources.get(page),
        });
        const target = join(websiteFolder, page);
        await mkdir(dirname(target), { recursive: true });
        await writeFile(target, markdown);
        const { title, summary } = beginningOf(markdown);
        lines.push(`- [${text ?? title}](${page})${summary === '' ? '' : `: ${summary}`}`);
      }
    }
  }
  await writeFile(join(websiteFolder, pageListFile), `${lines.join('\n')}\n`);
}

/** Returns Markdown without front matter and comments, whose links lead to other pages as Markdown. */
function linkedMarkdown(
  text: string,
  place: { readonly page: string; readonly source: string | undefined },
): string {
  const body = text.replace(/^---\n.*?\n---\n+/s, '').replaceAll(/^<!--.*?-->\n/gms, '');
  // Code keeps its parentheses.
  return body
    .split(/(^```.*?^```$)/ms)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replaceAll(/\]\(([^()\s]+)\)/g, (_link, href: string) => `](${resolveHref(href, place)})`),
    )
    .join('');
}

/** Returns the first heading of Markdown, and the first sentence below it. */
export function beginningOf(markdown: string): { readonly title: string; readonly summary: string } {
  const [, title = '', rest = ''] = /^# ([^\n]*)\n+(.*)/ms.exec(markdown) ?? [];
  const [paragraph = ''] = rest.split(/\n\s*\n/);
  const plain = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();
  // A table, a list, code or a heading says nothing by its first line.
  if (/^[|#`\-*<>]/.test(plain)) return { title: title.replaceAll('`', ''), summary: '' };
  const [sentence = plain] = /^.*?[.:](?=\s|$)/.exec(plain) ?? [];
  return { title: title.replaceAll('`', ''), summary: sentence.replace(/:$/, '.') };
}
