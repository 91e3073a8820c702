/**
 * The spool folder as other programs of the same user see it: where it is, what waits in it, and what the service
 * rejected. Everything here only reads; events are delivered by a `Recorder`.
 *
 * @packageDocumentation
 */

export {
  assertOwnFolder,
  type ProcessIdentity,
  type UntrustedBecause,
  UntrustedFileError,
} from '../journal/own-file.ts';
export { type DeadLetter, readDeadLetters, readWaitingEvents, type WaitingEvent } from './dead-letter.ts';
export {
  type JournalOwner,
  listTenantFolders,
  type ProcessJournal,
  readProcessJournals,
  type SpoolPlace,
  type SpoolPlaceOptions,
  spoolPlaces,
} from './process-journal.ts';
