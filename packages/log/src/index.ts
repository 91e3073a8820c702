/**
 * A record that an outsider can verify: an append-only log with the hashes of RFC 6962 and the formats of C2SP
 * (tlog-tiles, tlog-checkpoint, signed-note, tlog-cosignature, tlog-witness, tlog-proof, tlog-policy). It writes and reads
 * tiles, signs and cosigns checkpoints, issues receipts, and verifies all of it offline.
 *
 * @packageDocumentation
 */
export {
  type AddCheckpoint,
  formatAddCheckpoint,
  parseAddCheckpoint,
  type RequestCosignatureOptions,
  requestCosignature,
  type WitnessResponse,
} from './add-checkpoint.ts';
export {
  type Checkpoint,
  formatCheckpoint,
  openCheckpoint,
  parseCheckpoint,
  signCheckpoint,
  type VerifiedCheckpoint,
} from './checkpoint.ts';
export type { RecordToVerify } from './compare-records.ts';
export {
  canonicalJson,
  createSalt,
  type DeletionRow,
  type LogRecord,
  type RecordKind,
  recordEntry,
  recordKinds,
  recordTime,
  saltBytes,
} from './leaf.ts';
export { LogError, type LogErrorCode } from './log-error.ts';
export type { LogFinding, LogFindingCode } from './log-findings.ts';
export { LogFolder, WitnessFolder } from './log-folder.ts';
export { type HttpLogOptions, httpLog, type LogSource } from './log-source.ts';
export {
  type ConsistencyClaim,
  emptyRoot,
  type InclusionClaim,
  leafHash,
  verifyConsistency,
  verifyInclusion,
} from './merkle.ts';
export {
  parsePolicy,
  type TrustedLog,
  type TrustedWitness,
  type TrustPolicy,
  type TrustPolicyOptions,
  trustPolicy,
} from './policy.ts';
export {
  createReceipt,
  formatProof,
  openTrustedCheckpoint,
  parseProof,
  parseReceipt,
  type Receipt,
  ReceiptVerifier,
  type TlogProof,
  type VerifiedReceipt,
  verifyReceipt,
} from './receipt.ts';
export {
  checkSeals,
  parseSeal,
  type SealFinding,
  type SealReport,
  type SessionSeal,
} from './session-seal.ts';
export {
  type CreateKeyOptions,
  createKey,
  formatNote,
  formatSignatureLine,
  type KeyKind,
  type NoteSignature,
  openNote,
  parseNote,
  parseSignatureLine,
  parseSignerKey,
  parseVerifierKey,
  type SignedNote,
  type SignerKey,
  signText,
  type VerifiedSignature,
  type VerifierKey,
} from './signed-note.ts';
export {
  appendEntries,
  consistencyProof,
  edgeTiles,
  inclusionProof,
  parseTilePath,
  readEntries,
  readHashes,
  type StoredTile,
  type Tile,
  type TileSource,
  type TileStore,
  tileAt,
  tilePath,
  tileWidth,
  treeRoot,
} from './tiles.ts';
export {
  type EarlierLog,
  type Evidence,
  type EvidencePeriod,
  type EvidenceRecord,
  type EvidenceReport,
  type LogReport,
  type VerifyLogOptions,
  verifyEvidence,
  verifyLog,
  verifyRecords,
  type Witnessed,
} from './verify-log.ts';
export {
  type FetchHandler,
  nodeListener,
  originHash,
  Witness,
  type WitnessedCheckpoint,
  type WitnessOptions,
  type WitnessStore,
} from './witness.ts';
