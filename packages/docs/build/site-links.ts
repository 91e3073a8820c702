import type { MarkdownRenderer } from 'vitepress';
import { resolveHref } from './resolve-href.ts';

/** Environment of one page in VitePress. */
interface PageEnvironment {
  readonly relativePath: string;
}

/**
 * Plugin of markdown-it that makes links between files of the repository lead to pages of the site, keeps braces in prose
 * from being read as Vue expressions, and turns empty header cells into cells.
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
  md.core.ruler.push('empty-header-cells', ({ tokens }) => {
    tokens.forEach((token, index) => {
      if (token.type !== 'th_open' || tokens[index + 1]?.content !== '') return;
      // A header without text says nothing to a screen reader.
      for (const cell of [token, tokens[index + 2]]) if (cell !== undefined) cell.tag = 'td';
    });
  });
  const renderText = md.renderer.rules.text;
  md.renderer.rules.text = (tokens, index, ...rest) => {
    const text = renderText?.(tokens, index, ...rest) ?? md.utils.escapeHtml(tokens[index]?.content ?? '');
    return text.replaceAll('{{', '&#123;&#123;');
  };
}
