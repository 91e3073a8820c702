/**
 * Functions for scripts that read many records: concurrent maps over lists, and exports of many sessions to one file.
 *
 * @packageDocumentation
 */
export {
  type ExportedSessions,
  type ExportSessionsOptions,
  type ExportSessionsProgress,
  exportSessions,
} from './scripts/export-sessions.ts';
export { type ConcurrentCall, type MapConcurrentOptions, mapConcurrent } from './scripts/map-concurrent.ts';
