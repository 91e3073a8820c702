import { LogError, parseTilePath, tileWidth } from '@actlog/log';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { RequestMemory } from '../http/limits/request-memory.ts';
import { type RequestGate, requireScope } from '../http/request-gate.ts';
import { notFound } from '../lib/api-error.ts';
import { tenantTiles } from '../storage/log/tenant-log.ts';
import type { Storage } from '../storage/storage.ts';
import { tenantNamed } from '../storage/stores/tenant-store.ts';
import type { LogKeys, LogTenant } from './log-keys.ts';
import type { LogWitnesses } from './log-witnesses.ts';

/** Options for {@link mountLog}. */
export interface LogRoutesOptions {
  readonly storage: Storage;
  readonly keys: LogKeys;
  readonly witnesses: LogWitnesses;
  /** `open` for everyone, or `key` for callers of the tenant with the scope `read`. */
  readonly access: 'open' | 'key';
  readonly gate: RequestGate;
  readonly memory: RequestMemory;
}

/**
 * Mounts `/log/<tenant>/…` as C2SP tlog-tiles describes: the checkpoint, the tiles and the bundles of entries, and
 * besides them `key` with the verifier keys. Entries are salted hashes, so that witnesses and auditors need no key.
 */
export function mountLog(
  app: FastifyInstance,
  { storage, keys, witnesses, access, gate, memory }: LogRoutesOptions,
): void {
  const hooks: { onRequest?: onRequestHookHandler } =
    access === 'open'
      ? {}
      : {
          onRequest: gate.hook({
            check: (caller) => requireScope(caller, 'read'),
            acceptsUsers: true,
            memory,
          }),
        };

  async function tenantOf({ params, caller }: FastifyRequest): Promise<LogTenant> {
    const { tenant: name } = params as { readonly tenant: string };
    const found = await storage.readAcross('administer', (db) => tenantNamed(db, name));
    if (!found || (access === 'key' && caller?.tenantId !== found.id)) throw notFound('log');
    return { id: found.id, name };
  }

  app.get('/log/:tenant/checkpoint', hooks, async (request, reply) => {
    const tenant = await tenantOf(request);
    const { checkpoint } = await storage.read(tenant.id, (db) => witnesses.published(db, tenant));
    return sendText(reply, checkpoint);
  });
  app.get('/log/:tenant/key', hooks, async (request, reply) => {
    const tenant = await tenantOf(request);
    return sendText(
      reply,
      keys
        .verifierKeys(tenant)
        .map(({ text }) => `${text}\n`)
        .join(''),
    );
  });
  app.get<{ Params: { tenant: string; '*': string } }>(
    '/log/:tenant/tile/*',
    hooks,
    async (request, reply) => {
      const tile = parsedTile(`tile/${request.params['*']}`);
      const tenant = await tenantOf(request);
      const bytes =
        tile && (await storage.read(tenant.id, (db) => tenantTiles(db, tenant.id).readTile(tile)));
      if (!bytes) throw notFound('tile');
      if (tile.width === tileWidth && access === 'open') {
        void reply.header('cache-control', 'public, max-age=31536000, immutable');
      }
      return reply.type('application/octet-stream').send(Buffer.from(bytes));
    },
  );
}

function parsedTile(path: string) {
  try {
    return parseTilePath(path);
  } catch (error) {
    if (LogError.is(error)) return undefined;
    throw error;
  }
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('text/plain; charset=utf-8').send(text);
}
