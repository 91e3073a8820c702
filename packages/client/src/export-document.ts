import type { ResponseOf } from '@actlog/protocol';
import type { Answer } from './answer.ts';
import { ExportIntegrityError } from './errors/export-integrity-error.ts';
import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { ExportScanner, type ScannedExport } from './export-scanner.ts';

/** Reads an exported session that stands in memory, and checks it against its own hash and count. */
export async function readExport(answer: Answer): Promise<ResponseOf<'sessions.export'>> {
  const document = answer.jsonObject();
  const { contentSha256, eventCount } = document;
  if ((contentSha256 ?? eventCount ?? undefined) === undefined) return document;
  if (!crypto.subtle) {
    throw new InvalidArgumentError(
      'export checks the events by a hash, which browsers make only on a page that came over https: use `exportToBlob`.',
    );
  }
  const parts: Uint8Array[] = [];
  const scanner = new ExportScanner((bytes) => parts.push(bytes));
  scanner.feed(answer.body?.bytes() ?? new Uint8Array());
  checkExport(scanner.end(), await sha256Hex(parts), answer);
  return document;
}

/**
 * Holds what a document says of itself against what was found.
 *
 * @param sha256 Undefined where the events were not hashed.
 * @returns Whether there was a hash to check, and it was.
 * @throws ExportIntegrityError When they differ, or the document is not whole.
 */
export function checkExport(found: ScannedExport, sha256: string | undefined, answer: Answer): boolean {
  const { whole, eventCount, declaredEventCount, declaredSha256 } = found;
  const { method, path } = answer.request;
  const fail = (problem: string) =>
    new ExportIntegrityError(`${method} ${path}: ${problem}. Export the session again.`, answer.context());
  if (!whole) throw fail('the document is not one whole JSON object, or has two arrays of events');
  if (eventCount === undefined && declaredSha256 !== undefined) {
    throw fail('the document has a contentSha256 and no array of events to check against it');
  }
  if (eventCount !== undefined && declaredEventCount !== undefined && declaredEventCount !== eventCount) {
    throw fail(`the document says ${declaredEventCount} events and holds ${eventCount}`);
  }
  if (declaredSha256 === undefined || sha256 === undefined) return false;
  if (declaredSha256.toLowerCase() !== sha256) {
    throw fail('the events do not match the contentSha256 of the document');
  }
  return true;
}

async function sha256Hex(parts: readonly Uint8Array[]): Promise<string> {
  const bytes = await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
