import type { MarkdownEnv, MarkdownRenderer } from 'vitepress';

/**
 * Returns the HTML of a page that the search reads. Of the generated TypeScript reference, these are the headings: a
 * reader finds symbols by name, and thousands of descriptions do not hide the guides.
 */
export function indexedHtml(text: string, env: MarkdownEnv, md: MarkdownRenderer): string {
  const html = md.render(text, env);
  if (!env.relativePath.startsWith('reference/typescript/')) return html;
  return (html.match(/<h[1-6][^>]*>.*?<\/h[1-6]>/gs) ?? []).join('\n');
}
