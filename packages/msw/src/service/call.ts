import type { EndpointName, SentOf } from '@actlog/protocol';
import type { Contract } from '@actlog/protocol/schemas';
import type * as z from 'zod';
import type { Caller } from './key-ring.ts';

/** A request that was let in and is valid. */
export interface Call<Name extends EndpointName> extends Caller {
  readonly params: z.output<Contract[Name]['params']>;
  readonly query: z.output<Contract[Name]['query']>;
  readonly body: Contract[Name]['body'] extends z.ZodType ? z.output<Contract[Name]['body']> : undefined;
  /** When the request came, in milliseconds since the epoch. */
  readonly nowMs: number;
  readonly protoKeysRemoved: boolean;
  /** Headers of the request. */
  readonly headers: Headers;
  /** Aborts when the caller goes away. */
  readonly signal: AbortSignal;
  /** Headers of the answer. */
  readonly answerHeaders: Headers;
}

/** What answers one endpoint. */
export type Route<Name extends EndpointName> = (call: Call<Name>) => SentOf<Name> | Promise<SentOf<Name>>;

/** What answers every endpoint. */
export type Routes = { readonly [Name in EndpointName]: Route<Name> };
