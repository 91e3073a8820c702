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
export {
  type DeadLetter,
  type JournalOwner,
  listTenantFolders,
  type ProcessJournal,
  readDeadLetters,
  readProcessJournals,
  readWaitingEvents,
  type SpoolPlace,
  type SpoolPlaceOptions,
  spoolPlaces,
  type WaitingEvent,
} from './spooled-events.ts';
