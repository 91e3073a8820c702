import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

/**
 * Theme of the site. Pages have relative links, so that they work below any path. Once a page's script runs, the
 * address changes without a new page, so the links that are already there become absolute.
 */
const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp() {
    if (typeof document === 'undefined') return;
    for (const link of document.querySelectorAll<HTMLAnchorElement>('a[href]')) {
      const isElsewhere = link.origin !== location.origin || link.getAttribute('href')?.startsWith('#');
      // Without the origin, which would mark the link as one to another website.
      if (!isElsewhere) link.setAttribute('href', link.pathname + link.search + link.hash);
    }
  },
};

export default theme;
