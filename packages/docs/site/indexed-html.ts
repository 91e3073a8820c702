import type { MarkdownEnv, MarkdownRenderer } from 'vitepress';

/**
 * Returns the HTML of a page that the search reads. Of the generated references, it reads less, so that they do not hide
 * the guides: of TypeScript the names of exports, of HTTP whole endpoints instead of their parts.
 */
export function indexedHtml(text: string, env: MarkdownEnv, md: MarkdownRenderer): string {
  const html = md.render(text, env);
  if (env.relativePath.startsWith('reference/typescript/')) {
    return (html.match(/<h([1-3])[ >].*?<\/h\1>/gs) ?? []).join('\n');
  }
  return env.relativePath.startsWith('reference/http/') ? html.replaceAll(/<h3[ >].*?<\/h3>/gs, '') : html;
}
