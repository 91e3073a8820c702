import type { EndpointName, SentOf } from '@actlog/protocol';
import type { Contract } from '@actlog/protocol/schemas';
import type { FastifyReply } from 'fastify';
import type * as z from 'zod';
import type { Database, Write } from '../storage/transaction.ts';
import type { Caller } from '../tenants/caller.ts';
import type { RequestMemory } from './limits/request-memory.ts';

/** A request that passed authentication and validation. */
export interface Call<Name extends EndpointName> {
  readonly caller: Caller;
  readonly params: z.output<Contract[Name]['params']>;
  readonly query: z.output<Contract[Name]['query']>;
  readonly body: Contract[Name]['body'] extends z.ZodType ? z.output<Contract[Name]['body']> : undefined;
  /** Time at which the request was received, in Unix milliseconds. */
  readonly receivedMs: number;
  /** The body as text, unless keys were removed from it. */
  readonly bodyJson: string | undefined;
  /** `true` if `__proto__` keys were removed from the body. */
  readonly protoKeysRemoved: boolean;
  /** Upper bound for the memory of the body, in bytes. */
  readonly bodyMemoryBytes: number;
  /** Returns a request header, or `undefined` if there is none. */
  header(name: string): string | undefined;
  /** Returns a signal that aborts when the caller disconnects. Created on the first call. */
  disconnected(): AbortSignal;
}

/** A route that responds from one snapshot of the data. */
export interface ReadRoute<Name extends EndpointName> {
  readonly kind: 'read';
  /** Runs before the snapshot is taken. */
  prepare?(call: Call<Name>): Promise<void>;
  handle(call: Call<Name>, db: Database): Promise<SentOf<Name>>;
}

/** A route that changes the data in one transaction and responds after its commit. Supports `Idempotency-Key`. */
export interface WriteRoute<Name extends EndpointName> {
  readonly kind: 'write';
  /** Runs slow work that needs no transaction, such as a DNS lookup. */
  prepare?(call: Call<Name>): Promise<void>;
  handle(call: Call<Name>, write: Write): Promise<SentOf<Name>>;
}

/** A route that manages transactions itself, because it shares them, waits between them, or streams. */
export interface OwnRoute<Name extends EndpointName> {
  readonly kind: 'own';
  /**
   * Limits the memory of its requests until they are responded to. Default: the limit shared by all other endpoints.
   */
  readonly memory?: RequestMemory;
  /**
   * Checks for room before the body is read, so that a rejected request costs nothing more.
   *
   * @throws ApiError to reject the request.
   */
  admit?(): void;
  /** Returns the response body, or `undefined` when it has responded through `reply`. */
  handle(call: Call<Name>, reply: FastifyReply): Promise<SentOf<Name> | undefined>;
}

/** Handler of one endpoint. */
export type Route<Name extends EndpointName> = ReadRoute<Name> | WriteRoute<Name> | OwnRoute<Name>;

/** Handlers of all endpoints. */
export type Routes = { readonly [Name in EndpointName]: Route<Name> };
