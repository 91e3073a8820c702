import type { EndpointName, SentOf } from '@actlog/protocol';
import type { Contract } from '@actlog/protocol/schemas';
import type * as z from 'zod';
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
