export { installedBrowser } from './installed-browser.ts';
