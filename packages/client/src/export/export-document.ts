import type { ResponseOf } from '@actlog/protocol';
import { ExportIntegrityError } from '../errors/export-integrity-error.ts';
import { InvalidArgumentError } from '../errors/invalid-argument-error.ts';
import type { ApiResponse } from '../response/api-response.ts';
import { ExportScanner, type ScannedExport } from './export-scanner.ts';

/** Reads an exported session that is in memory, and checks it against its own hash and count. */
export async function readExport(response: ApiResponse): Promise<ResponseOf<'sessions.export'>> {
  const document = response.jsonObject();
  const { contentSha256, eventCount } = document;
  if ((contentSha256 ?? eventCount ?? undefined) === undefined) return document;
  if (!crypto.subtle) {
    throw new InvalidArgumentError(
      'export needs crypto.subtle to verify the events, which browsers provide only on https pages: use `exportToBlob`.',
    );
  }
  const parts: Uint8Array[] = [];
  const scanner = new ExportScanner((bytes) => parts.push(bytes));
  scanner.feed(response.body?.bytes() ?? new Uint8Array());
  checkExport(scanner.end(), await sha256Hex(parts), response);
  return document;
}

/**
 * Compares what a document declares with what the scanner found.
 *
 * @param sha256 Undefined if the events were not hashed.
 * @returns `true` if the document has a hash and it matches.
 * @throws ExportIntegrityError When they differ, or the document is incomplete.
 */
export function checkExport(
  found: ScannedExport,
  sha256: string | undefined,
  response: ApiResponse,
): boolean {
  const { whole, eventCount, declaredEventCount, declaredSha256 } = found;
  const { method, path } = response.request;
  const fail = (problem: string) =>
    new ExportIntegrityError(`${method} ${path}: ${problem}. Export the session again.`, response.context());
  if (!whole) throw fail('the document is not one complete JSON object, or has two `events` arrays');
  if (eventCount === undefined && declaredSha256 !== undefined) {
    throw fail('the document has a contentSha256 but no `events` array to verify');
  }
  if (eventCount !== undefined && declaredEventCount !== undefined && declaredEventCount !== eventCount) {
    throw fail(`the document declares ${declaredEventCount} events but contains ${eventCount}`);
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
