import { schemaRefusal } from '@actlog/policy';
import { type EndpointName, headers as names, type SentOf } from '@actlog/protocol';
import type { Contract } from '@actlog/protocol/schemas';
import { v4, v7 } from 'uuid';
import type * as z from 'zod';
import { refusalError } from './api-error.ts';
import type { Caller } from './key-ring.ts';

/** An authenticated and valid request. */
export interface Call<Name extends EndpointName> extends Caller {
  readonly params: z.output<Contract[Name]['params']>;
  readonly query: z.output<Contract[Name]['query']>;
  readonly body: Contract[Name]['body'] extends z.ZodType ? z.output<Contract[Name]['body']> : undefined;
  /** Time of the request, in Unix milliseconds. */
  readonly nowMs: number;
  readonly protoKeysRemoved: boolean;
  /** Headers of the request. */
  readonly headers: Headers;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Headers of the response. */
  readonly responseHeaders: Headers;
}

/** Handler of one endpoint. */
export type Route<Name extends EndpointName> = (call: Call<Name>) => SentOf<Name> | Promise<SentOf<Name>>;

/** Handlers of every endpoint. */
export type Routes = { readonly [Name in EndpointName]: Route<Name> };

/**
 * Validates one part of a request against its schema.
 *
 * @throws ApiError `VALIDATION_ERROR` with each problem; values of the request are never included.
 */
export function validated<Schema extends z.ZodType>(
  part: 'params' | 'query' | 'body',
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const { data, error } = schema.safeParse(value);
  if (error) throw refusalError(schemaRefusal(part, error.issues));
  return data as z.output<Schema>;
}

/** Creates the response headers of the reference server; each response has its own request id. */
export function responseHeaders(): Headers {
  return new Headers({
    [names.contentType]: 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    [names.requestId]: v4(),
  });
}

/** Creates an identifier of a kind: its prefix and a UUIDv7 without dashes (reference profile, "Ids"). */
export function newId(kind: 'agt' | 'pol' | 'pac' | 'nch' | 'grt'): string {
  return `${kind}_${v7().replaceAll('-', '')}`;
}
