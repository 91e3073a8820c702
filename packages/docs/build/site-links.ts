import type { MarkdownRenderer } from 'vitepress';
import { resolveHref } from './resolve-href.ts';

/** Environment of one page in VitePress. */
interface PageEnvironment {
  readonly relativePath: string;
}

/**
 * Plugin of markdown-it that makes links between files of the repository lead to pages of the site, and keeps braces in
 * prose from being read as Vue expressions.
 *
 * @param sources Files of the repository by the page that shows them.
 */
export function siteLinks(md: MarkdownRenderer, sources: ReadonlyMap<string, string>): void {
  md.core.ruler.push('site-links', ({ tokens, env }) => {
    const { relativePath: page } = env as PageEnvironment;
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href !== null) token.attrSet('href', resolveHref(href, { source: sources.get(page), page }));
    }
  });
  const renderText = md.renderer.rules['text'];
  md.renderer.rules['text'] = (tokens, index, ...rest) => {
    const text = renderText?.(tokens, index, ...rest) ?? md.utils.escapeHtml(tokens[index]?.content ?? '');
    return text.replaceAll('{{', '&#123;&#123;');
  };
}
