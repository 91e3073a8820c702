// Stands in for `load.js` in browsers and workers: there, requests go through `fetch`, and undici, which needs modules
// of Node, would break the build.
export const loadUndici = () =>
  Promise.reject(new Error('undici is not part of this build: pass a dispatcher'));
