// Loads undici. Written apart from the sources so that package.json ("imports") can put `absent.js` in its place where
// a bundler builds for a browser or a worker.
export const loadUndici = () => import('undici');
