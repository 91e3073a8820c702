export { launchBrowser } from './launch-browser.ts';
