// Loaded on demand by the exports of a session: one chunk of a bundle, so that what is loaded at once stays small.
export { exportToBlob } from './export-blob.ts';
export { exportToFile, readExport } from './export-file.ts';
