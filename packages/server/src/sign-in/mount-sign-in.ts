import { consoleSite } from '@actlog/console';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FailedAuthentications } from '../http/limits/rate-limiter.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import { personActor, recordChange, signedInChange } from '../tenants/audit-log.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { type Users, userId } from '../users/users.ts';
import type { OpenIdProvider } from './openid-provider.ts';
import {
  attemptLifetimeMs,
  openAttempt,
  type SignInAttempt,
  SignInError,
  type SignInFailure,
  sealAttempt,
} from './sign-in-error.ts';

const path = '/console/sign-in';

/** Query of the page that begins a sign-in. */
interface BeginQuery {
  /** Place of the console to return to, such as `#/approvals`. */
  readonly return?: unknown;
  /** `other` to choose another account. */
  readonly account?: unknown;
}

/** Parts that {@link mountSignIn} uses. */
export interface SignInParts {
  /** People who sign in. */
  readonly users: Users;
  readonly secret: DeploymentSecret;
  /** Limits failed authentications of each client address. */
  readonly failedAuthentications: FailedAuthentications;
  /** Quotas of the deployment. */
  readonly quotas: DeploymentQuotas;
}

/**
 * Mounts the pages of the sign-in: `/console/sign-in` leads to the provider, which leads back to
 * `/console/sign-in/callback`. Both are navigations of a browser, so errors are pages.
 */
export function mountSignIn(app: FastifyInstance, parts: SignInParts, provider: OpenIdProvider): void {
  const { users, secret, failedAuthentications } = parts;

  // HEAD is safe (RFC 9110, section 9.2.1), so it neither begins nor completes a sign-in.
  const onlyGet = { exposeHeadRoute: false };

  app.get<{ Querystring: BeginQuery }>(path, onlyGet, async (request, reply) => {
    try {
      const { url, ...values } = await provider.begin(request.query.account === 'other');
      const attempt: SignInAttempt = {
        ...values,
        place: returnPlace(request.query.return),
        untilMs: Date.now() + attemptLifetimeMs,
      };
      const cookie = users.cookies.set('actlog-sign-in-attempt', sealAttempt(secret, attempt), {
        maxAgeMs: attemptLifetimeMs,
        sameSite: 'lax',
      });
      return reply.header('set-cookie', cookie).redirect(url.href, 303);
    } catch (error) {
      return sendErrorPage(request, reply, error, './');
    }
  });

  app.get(`${path}/callback`, onlyGet, async (request, reply) => {
    // An attempt is for one use, however it ends.
    void reply.header('set-cookie', users.cookies.clear('actlog-sign-in-attempt'));
    // Before the provider is asked, which would otherwise get every request that somebody sends here.
    const retryAfterMs = failedAuthentications.count(request);
    if (retryAfterMs > 0) {
      void reply.header('retry-after', Math.ceil(retryAfterMs / 1000));
      return sendErrorPage(request, reply, new SignInError('limited', 'rate'), '../');
    }
    try {
      const attempt = openAttempt(secret, users.cookies.read(request, 'actlog-sign-in-attempt'));
      const cookie = await signIn(parts, provider, request, attempt);
      void reply.header('set-cookie', cookie);
      return reply.redirect(`${provider.consoleUrl}${attempt?.place ?? ''}`, 303);
    } catch (error) {
      return sendErrorPage(request, reply, error, '../');
    }
  });
}

/** Signs in the person that the provider leads back. Returns the value of `Set-Cookie`. */
async function signIn(
  { users, quotas }: SignInParts,
  provider: OpenIdProvider,
  request: FastifyRequest,
  attempt: SignInAttempt | undefined,
): Promise<string> {
  const { searchParams, search } = new URL(request.url, 'http://unused');
  if (attempt === undefined) throw new SignInError('stale', 'no_attempt');
  if (searchParams.get('state') !== attempt.state) throw new SignInError('stale', 'wrong_state');
  const tenantId = await users.tenant.id();
  // Not left to the provider: whoever sees the way back must not use it a second time.
  if (tenantId !== undefined && !(await users.signIns.claimAttempt(tenantId, attempt.state))) {
    throw new SignInError('stale', 'used_state');
  }
  const { issuer, subject, name, groups, email, idToken } = await provider.authenticate(search, attempt);
  const id = userId(issuer, subject);
  const role = users.roles.roleOf(groups);
  if (role === undefined || tenantId === undefined) {
    request.log.warn({ userId: id }, 'sign-in of a person without a role');
    throw new SignInError('no_role', 'no_role', name);
  }
  await endPrevious(users, request);
  const person = { userId: id, name, role };
  const cookie = await users.signIns.create({ tenantId, ...person, groups, email, idToken }, (db) =>
    recordChange(quotas, db, tenantId, personActor(person), signedInChange(person)),
  );
  request.log.info({ tenantId, userId: id, role }, 'signed in');
  return users.cookies.set('actlog-sign-in', cookie, {
    maxAgeMs: users.signIns.lifetimes.maxMs,
    sameSite: 'strict',
  });
}

/** Ends the sign-in whose cookie the new one replaces. */
async function endPrevious({ cookies, signIns }: Users, request: FastifyRequest): Promise<void> {
  const previous = cookies.read(request, 'actlog-sign-in');
  const caller = previous === undefined ? undefined : await signIns.find(previous);
  if (caller?.user?.signIn) await signIns.end(caller.tenantId, caller.user.signIn.id, async () => {});
}

async function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  root: './' | '../',
): Promise<FastifyReply> {
  // Anything else, such as a database that is down, gets another response.
  if (!(error instanceof SignInError)) throw error;
  const { failure, reason } = error;
  if (failure !== 'no_role') request.log.warn({ failure, reason }, 'sign-in failed');
  const { status, html } = await errorPage(error, root, request.id);
  void reply.header('content-security-policy', errorPagePolicy);
  return reply.code(status).type('text/html; charset=utf-8').send(html);
}

/** A place of the console: the part of an address after `#`, in the visible ASCII that browsers report. */
const place = /^#\/[\x21-\x7e]{0,2000}$/;

/**
 * Returns the place of the console that a person returns to after the sign-in. Only the part after `#` is taken from the
 * request, so a link can lead to no other page and to no other site.
 */
function returnPlace(wanted: unknown): string {
  return typeof wanted === 'string' && place.test(wanted) ? wanted : '#/';
}

/** `Content-Security-Policy` of the page: only the console's own styles, and no script. */
const errorPagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Text of the page of a failure, and its status. */
interface ErrorText {
  readonly status: number;
  readonly title: string;
  readonly text: string;
  /** `true` to offer another account rather than another attempt. */
  readonly offersAccounts?: true;
}

const texts: Readonly<Record<SignInFailure, ErrorText>> = {
  unavailable: {
    status: 502,
    title: 'The sign-in service is not available',
    text: 'The sign-in service does not respond, or does not accept this server. Try again in a minute. If it persists, ask the operator of the server.',
  },
  stale: {
    status: 400,
    title: 'This sign-in is no longer valid',
    text: 'It took too long, was begun in another browser or tab, or was already completed. Sign in again.',
  },
  declined: {
    status: 403,
    title: 'The sign-in was declined',
    text: 'The sign-in service did not let you in. Sign in again, or ask its administrator for access to this application.',
  },
  rejected: {
    status: 400,
    title: 'The sign-in could not be verified',
    text: 'The response of the sign-in service was not valid, or was used before. Sign in again. If it persists, ask the operator of the server.',
  },
  no_role: {
    status: 403,
    title: 'You have no access to this server',
    text: 'Your account has no role here. Ask the operator of the server to give you one, or to add you to a group that has one. Then sign in again.',
    offersAccounts: true,
  },
  limited: {
    status: 429,
    title: 'Too many failed sign-ins',
    text: 'Too many sign-ins from your address have failed. Wait a minute, then sign in again.',
  },
};

/** A page for a person who could not sign in. */
interface ErrorPage {
  readonly status: number;
  readonly html: string;
}

/**
 * Returns the page for a failed sign-in.
 *
 * @param root - relative address of the console, `./` or `../`
 * @param requestId - identifies the request in the log
 */
async function errorPage(
  { failure, person }: SignInError,
  root: './' | '../',
  requestId: string,
): Promise<ErrorPage> {
  const { status, title, text, offersAccounts } = texts[failure];
  const [again, label] = offersAccounts
    ? ['sign-in?account=other', 'Sign in with another account']
    : ['sign-in', 'Sign in again'];
  const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="robots" content="noindex" />
    <title>${title} · actlog</title>
    <link rel="icon" href="${root}icon.svg" type="image/svg+xml" />
    ${await stylesheet(root)}
  </head>
  <body>
    <main class="sign-in">
      <h1>${title}</h1>
      ${person === undefined ? '' : `<p>You are signed in as <strong>${escaped(person)}</strong>.</p>`}
      <p>${text}</p>
      <p><a href="${root}${again}">${label}</a></p>
      <p><a href="${root}">Go to the console</a></p>
      <p><small>Reference for the operator: ${escaped(requestId)}</small></p>
    </main>
  </body>
</html>
`;
  return { status, html };
}

/** Returns the link to the console's styles, whose name contains a hash. */
async function stylesheet(root: string): Promise<string> {
  const name = Object.keys(await consoleSite()).find((file) => file.startsWith('style-'));
  return name === undefined ? '' : `<link rel="stylesheet" href="${root}${name}" />`;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
