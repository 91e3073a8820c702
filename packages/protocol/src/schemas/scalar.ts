import * as z from 'zod';
import { limits } from '../limits.ts';

/** No control character and no lone surrogate: such text cannot be stored or shown faithfully. */
const printable = /^[^\p{Cc}\p{Cs}]*$/u;

/** Text of a bounded length that a person can read on one line. */
export function line(maxLength: number, minLength = 1) {
  return z
    .string()
    .min(minLength)
    .max(maxLength)
    .regex(printable, 'must not hold control characters or lone surrogates');
}

/** Text over several lines. */
export function text(maxLength: number) {
  return z
    .string()
    .max(maxLength)
    .refine((value) => value.isWellFormed(), 'must be well-formed Unicode');
}

/** An identifier: the caller's own string, or an opaque one that the service made. */
export const identifier = line(limits.maxIdentifierLength);

/** ISO 8601 in UTC with a trailing `Z`. */
export const timestamp = z.iso.datetime({ error: 'must be an ISO 8601 time in UTC with a trailing Z' });

/** A score from 0 to 100. */
export const score = z.number().min(0).max(100);

/** A name pattern in which `*` stands for any run of characters. */
export const glob = line(limits.maxIdentifierLength);

/** Free data of the caller, kept as it came; bounded by `limits.maxMetadataBytes`. */
export const metadata = z.record(z.string(), z.unknown());
