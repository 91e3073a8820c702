import { consoleSecurityPolicy, consoleSite, type SiteEncoding, type SiteFile } from '@actlog/console';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { readQuotaUsage } from '../administration/tenants.ts';
import { unknownRouteHandler } from '../http/errors.ts';
import type { ServingParts } from '../http/mount.ts';
import { authenticationFailed, requireScope } from '../http/request-gate.ts';
import {
  acceptedEncodings,
  callerFields,
  isUnchanged,
  releaseBody,
  sessionPath,
  validated,
} from '../http/request-input.ts';
import { mountServerRoute, type ServerRoute } from '../http/server-route.ts';
import { ApiError, noSuchEndpoint, notFound, validationError } from '../lib/api-error.ts';
import type { UnreadSpansOfTenants } from '../observability/unread-spans.ts';
import { learnConfirmedSession } from '../risk/learning.ts';
import { mountSignIn, type SignInParts } from '../sign-in/mount-sign-in.ts';
import { type OpenIdProvider, openIdProvider } from '../sign-in/openid-provider.ts';
import { daysKept, retentionPolicy } from '../storage/retention/retention.ts';
import type { Storage } from '../storage/storage.ts';
import { type AuditParts, auditRequest, signedOutChange } from '../tenants/audit-log.ts';
import type { SignInSettings } from '../users/sign-in-settings.ts';
import { createKeyRoute, type KeyParts, listKeysRoute, revokeKeyRoute, rotateKeyRoute } from './keys.ts';
import { endSignInRoute, identityRoute, listSignInsRoute, type SignOutParts } from './sign-ins.ts';

/** Parts of the routes of the console. */
export interface ConsoleParts extends ServingParts, KeyParts, SignOutParts {
  /** Spans that were not understood. */
  readonly unreadSpans: UnreadSpansOfTenants;
}

/** Mounts the console: its page, its API, and the pages of the sign-in if people sign in by a provider. */
export async function mountConsole(
  app: FastifyInstance,
  parts: ConsoleParts & SignInParts,
  settings: SignInSettings & { readonly traceUrl?: string | undefined },
): Promise<void> {
  mountConsolePage(app);
  const provider = openIdProvider(settings);
  if (provider) mountSignIn(app, parts, provider);
  await mountConsoleApi(app, parts, { ...settings, provider });
}

/**
 * Mounts the console at `/console/`. Its files are the same for everyone and need no key. It requests its data from
 * `/v1` with the key of the signed-in user.
 */
function mountConsolePage(app: FastifyInstance): void {
  // Relative, so that it works below any path at which a proxy serves the server.
  app.get('/console', (_request, reply) => reply.redirect('./console/'));
  app.get<{ Params: { file: string } }>('/console/:file', async (request, reply) => {
    const files = await consoleSite();
    const name = request.params.file || 'index.html';
    const file = Object.hasOwn(files, name) ? files[name] : undefined;
    if (file === undefined) throw noSuchEndpoint();
    const { body, headers } = encodedBody(file, request.headers['accept-encoding']);
    reply.headers({ ...headers, 'content-security-policy': consoleSecurityPolicy });
    if (isUnchanged(headers.etag, request.headers['if-none-match'])) return reply.code(304).send();
    return reply.type(file.type).send(body);
  });
}

/** Encodings of the files, preferred ones first. */
const encodings: readonly SiteEncoding[] = ['br', 'gzip'];

/** Body of a file in the encoding of a response, and the headers that depend on it. */
interface EncodedBody {
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns a file in the best encoding that a client accepts (RFC 9110, section 12.5.3). */
function encodedBody(file: SiteFile, acceptEncoding = ''): EncodedBody {
  const accepted = acceptedEncodings(acceptEncoding);
  const encoding = encodings.find((name) => accepted.has(name));
  const common = { 'cache-control': file.cacheControl, vary: 'accept-encoding' };
  if (encoding === undefined) return { body: file.body, headers: { ...common, etag: file.etag } };
  return {
    body: Buffer.from(file.compressed[encoding]),
    headers: {
      ...common,
      // A tag names one representation (RFC 9110, section 8.8.3.3).
      etag: file.etag.replace(/"$/, `-${encoding}"`),
      'content-encoding': encoding,
    },
  };
}

const folder = '/console/api';

/** Ways to sign in to the console and out of it. */
interface ConsoleSignIn {
  /** The OpenID provider; `undefined` without one. */
  readonly provider: OpenIdProvider | undefined;
  /** Name of the provider on the sign-in page. */
  readonly oidcLabel: string;
  /** Address at which people sign out of a trusted proxy. */
  readonly proxySignOutUrl?: string | undefined;
  /** Address of a trace, with `{traceId}`; `undefined` if the deployment names no tracer. */
  readonly traceUrl?: string | undefined;
}

/**
 * Mounts the routes that the console needs besides `/v1`: the identity and limits of the caller, the keys of the tenant ("They can
 * be rotated through the console", specification, "Authentication"), and the confirmation of sessions. They are private
 * to the console and change with it, so they are not in the endpoint table or in `/openapi.json`.
 */
export async function mountConsoleApi(
  app: FastifyInstance,
  parts: ConsoleParts,
  { provider, oidcLabel, proxySignOutUrl, traceUrl }: ConsoleSignIn,
): Promise<void> {
  const signInRoutes = [
    { method: 'GET', path: '/sign-in' },
    { method: 'POST', path: '/sign-out' },
  ];
  const routes = [
    identityRoute(parts, proxySignOutUrl !== undefined, traceUrl),
    limitsRoute(parts),
    listKeysRoute(parts),
    createKeyRoute(parts),
    rotateKeyRoute(parts),
    revokeKeyRoute(parts),
    listSignInsRoute(parts),
    endSignInRoute(parts),
    learnSessionRoute(parts),
  ];
  await app.register(
    async (api) => {
      api.setNotFoundHandler(
        unknownRouteHandler(
          [...routes, ...signInRoutes].map(({ method, path }) => ({ method, path: folder + path })),
        ),
      );
      mountSignInStatus(api, parts, provider && oidcLabel);
      mountSignOut(api, parts, provider, proxySignOutUrl);
      for (const route of routes) mountServerRoute(api, parts, route);
    },
    { prefix: folder },
  );
}

/**
 * Mounts `GET /console/api/sign-in`, which needs no caller: how people can sign in, and `true` in `signedIn` if the browser
 * already is. With `noRole`, a proxy names a person who has no access.
 *
 * @param label - name of the provider; `undefined` without one
 */
function mountSignInStatus(
  api: FastifyInstance,
  { users }: Pick<ConsoleParts, 'users'>,
  label: string | undefined,
): void {
  api.get('/sign-in', async (request, reply) => {
    users.proxy?.screen(request);
    const found = await users.find(request);
    return reply.send({
      provider: label === undefined ? null : { label },
      signedIn: found.type === 'caller',
      noRole: found.type === 'no role' ? found.name : null,
    });
  });
}

/** Route `GET /console/api/limits`: the tenant's retention, its use of each quota, and the spans that were not
 * understood since the server started, for `actlog doctor`. */
function limitsRoute({ storage, quotas, unreadSpans }: ConsoleParts): ServerRoute {
  return {
    method: 'GET',
    path: '/limits',
    success: 200,
    check: (caller) => requireScope(caller, 'read'),
    handle: ({ caller: { tenantId } }) =>
      storage.read(tenantId, async (db) => {
        const tenant = await db
          .selectFrom('tenants')
          .select('id')
          .where('id', '=', tenantId)
          .executeTakeFirst();
        if (!tenant) throw authenticationFailed();
        return {
          retentionDays: daysKept(await retentionPolicy(db, tenantId), 'sessions'),
          quotas: await readQuotaUsage(db, tenantId, quotas, Date.now()),
          unreadSpans: unreadSpans.list(tenantId),
        };
      }),
  };
}

/** Body of the route: missing or empty. */
const noBody = z.strictObject({}).optional();

/**
 * Route `POST /console/api/sessions/:id/learn`: confirms a session with a high score as expected behavior. Like a
 * policy, it changes how later sessions are judged, so it requires the same scope.
 */
function learnSessionRoute(parts: AuditParts & { readonly storage: Storage }): ServerRoute {
  return {
    method: 'POST',
    path: '/sessions/:id/learn',
    success: 200,
    check: (caller) => requireScope(caller, 'manage'),
    async handle(call) {
      const { caller, id, body, log } = call;
      validated('body', noBody, body);
      sessionPath({ id });
      const outcome = await learnConfirmedSession(parts.storage, caller.tenantId, id, Date.now(), (db) =>
        auditRequest(parts, db, call, {
          action: 'session.confirmed',
          target: { id, name: null },
          changes: [],
        }),
      );
      if (outcome === 'unknown') throw notFound('session');
      if (outcome === 'not-ended') {
        throw validationError(
          'params.id',
          'session_not_ended',
          'is a session that has not ended; it can be learned half an hour after its last event',
        );
      }
      log.info({ ...callerFields(caller), outcome }, 'session confirmed as expected behavior');
      return { learned: outcome === 'learned' };
    },
  };
}

/**
 * Mounts `POST /console/api/sign-out`, which ends the sign-in of the caller. `continueAt` in the response is the address
 * at which the person signs out of the provider or the proxy; `null` if there is none.
 *
 * @param proxySignOutUrl - address at which people sign out of the proxy
 */
function mountSignOut(
  api: FastifyInstance,
  parts: ServingParts & SignOutParts,
  provider: OpenIdProvider | undefined,
  proxySignOutUrl: string | undefined,
): void {
  const { users } = parts;
  api.route({
    method: 'POST',
    url: '/sign-out',
    onRequest: parts.requestGate.hook({
      check({ user }) {
        if (user) return;
        throw new ApiError(
          'PERMISSION_DENIED',
          'Only a person who is signed in can sign out; a key is revoked.',
        );
      },
      acceptsUsers: true,
      memory: parts.bodyMemory,
    }),
    handler: async (request, reply) => {
      const { caller } = request;
      releaseBody(request);
      const signIn = caller?.user?.signIn;
      if (!caller || !signIn) return reply.send({ continueAt: proxySignOutUrl ?? null });
      const author = { caller, header: (name: string) => request.headers[name]?.toString() };
      const { idToken } = await users.signIns.end(caller.tenantId, signIn.id, (db, row) =>
        auditRequest(parts, db, author, signedOutChange(row)),
      );
      request.log.info({ tenantId: caller.tenantId, userId: caller.id }, 'signed out');
      void reply.header('set-cookie', users.cookies.clear('actlog-sign-in'));
      return reply.send({ continueAt: (await provider?.signOutUrl(idToken)) ?? null });
    },
  });
}
