import type { DefaultTheme as Configured, EnhanceAppContext, Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

/** Words of a question that say nothing about its subject; the search would find them at the start of others, such as "document". */
const unsearched = new Set(
  'a an and are be can do does for from how i if in is it my of on or our should that the this to was we what when where which who why will with you your'.split(
    ' ',
  ),
);

/** Leaves the words of a question out of the search. Functions of the configuration would need `eval` in the page. */
function searchSubjects({ siteData }: EnhanceAppContext): void {
  const { search } = siteData.value.themeConfig as Configured.Config;
  if (search?.provider !== 'local') return;
  const searchOptions = search.options?.miniSearch?.searchOptions;
  if (searchOptions === undefined) return;
  searchOptions.processTerm = (word) => {
    const term = word.toLowerCase();
    return unsearched.has(term) ? null : term;
  };
}

/**
 * Theme of the site. Pages have relative links, so that they work below any path. Once a page's script runs, the
 * address changes without a new page, so the links that are already there become absolute.
 */
const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp(context) {
    searchSubjects(context);
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
