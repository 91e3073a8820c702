import type { EndpointName, SentOf } from '@actlog/protocol';
import type { Contract } from '@actlog/protocol/schemas';
import type { FastifyReply } from 'fastify';
import type * as z from 'zod';
import type { Caller } from '../keys/key-ring.ts';
import type { Database, Write } from '../storage/transaction.ts';
import type { RequestMemory } from './request-memory.ts';

/** A request that has passed authentication and validation. */
export interface Call<Name extends EndpointName> {
  readonly caller: Caller;
  readonly params: z.output<Contract[Name]['params']>;
  readonly query: z.output<Contract[Name]['query']>;
  readonly body: Contract[Name]['body'] extends z.ZodType ? z.output<Contract[Name]['body']> : undefined;
  /** When the service took the request, in milliseconds since the epoch. */
  readonly receivedMs: number;
  /** The body as it came, unless keys were taken out of it. */
  readonly bodyJson: string | undefined;
  /** Whether `__proto__` keys were taken out of the body. */
  readonly protoKeysRemoved: boolean;
  /** Bytes of memory that the body takes at most. */
  readonly bodyMemoryBytes: number;
  /** A request header, or undefined. */
  header(name: string): string | undefined;
  /** Aborts when the caller has gone away. Made only when asked for. */
  gone(): AbortSignal;
}

/** Answers from one consistent state of the data. */
export interface ReadRoute<Name extends EndpointName> {
  readonly kind: 'read';
  /** What is to be done before the state is fixed that the answer shows. */
  prepare?(call: Call<Name>): Promise<void>;
  handle(call: Call<Name>, db: Database): Promise<SentOf<Name>>;
}

/** Changes the data in one transaction, and answers after its commit. Honours `Idempotency-Key`. */
export interface WriteRoute<Name extends EndpointName> {
  readonly kind: 'write';
  /** What takes time and needs no transaction, such as looking a name up. */
  prepare?(call: Call<Name>): Promise<void>;
  handle(call: Call<Name>, write: Write): Promise<SentOf<Name>>;
}

/** Sees to its transactions itself, because it shares them, waits between them, or streams. */
export interface OwnRoute<Name extends EndpointName> {
  readonly kind: 'own';
  /** Bounds what its requests take until they are answered. By default they share that of all other endpoints. */
  readonly memory?: RequestMemory;
  /**
   * Looks at a request before its body is read: who has no place for it spends nothing on what it refuses.
   *
   * @throws ApiError to refuse it.
   */
  admit?(): void;
  /** Returns the answer; or undefined when it has answered through `reply`. */
  handle(call: Call<Name>, reply: FastifyReply): Promise<SentOf<Name> | undefined>;
}

/** What stands behind one endpoint. */
export type Route<Name extends EndpointName> = ReadRoute<Name> | WriteRoute<Name> | OwnRoute<Name>;

/** What stands behind the endpoint table. */
export type Routes = { readonly [Name in EndpointName]: Route<Name> };
