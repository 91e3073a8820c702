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
    for (const element of document.querySelectorAll<HTMLAnchorElement | HTMLLinkElement>('[href]')) {
      const { origin, pathname, search, hash } = new URL(element.href, location.href);
      const isElsewhere = origin !== location.origin || element.getAttribute('href')?.startsWith('#');
      // Without the origin, which would mark the link as one to another website.
      if (!isElsewhere) element.setAttribute('href', pathname + search + hash);
    }
  },
};

export default theme;
