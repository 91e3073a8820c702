import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recordChange } from '../audit/record-change.ts';
import { personActor, signedInChange } from '../audit/sign-in-change.ts';
import type { Services } from '../services.ts';
import { userId } from '../users/user-id.ts';
import { errorPage, errorPagePolicy } from './error-page.ts';
import type { OpenIdProvider } from './openid-provider.ts';
import { returnPlace } from './return-place.ts';
import { attemptLifetimeMs, openAttempt, type SignInAttempt, sealAttempt } from './sign-in-attempt.ts';
import { SignInError } from './sign-in-error.ts';

const path = '/console/sign-in';

/** Query of the page that begins a sign-in. */
interface BeginQuery {
  /** Place of the console to return to, such as `#/approvals`. */
  readonly return?: unknown;
  /** `other` to choose another account. */
  readonly account?: unknown;
}

/**
 * Mounts the pages of the sign-in: `/console/sign-in` leads to the provider, which leads back to
 * `/console/sign-in/callback`. Both are navigations of a browser, so errors are pages.
 */
export function mountSignIn(app: FastifyInstance, services: Services, provider: OpenIdProvider): void {
  const { users, secret } = services;

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
    const retryAfterMs = services.failedAuthentications.count(request);
    if (retryAfterMs > 0) {
      void reply.header('retry-after', Math.ceil(retryAfterMs / 1000));
      return sendErrorPage(request, reply, new SignInError('limited', 'rate'), '../');
    }
    try {
      const attempt = openAttempt(secret, users.cookies.read(request, 'actlog-sign-in-attempt'));
      const cookie = await signIn(services, provider, request, attempt);
      void reply.header('set-cookie', cookie);
      return reply.redirect(`${provider.consoleUrl}${attempt?.place ?? ''}`, 303);
    } catch (error) {
      return sendErrorPage(request, reply, error, '../');
    }
  });
}

/** Signs in the person that the provider leads back. Returns the value of `Set-Cookie`. */
async function signIn(
  { users, quotas }: Services,
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
  const { issuer, subject, name, groups, idToken } = await provider.authenticate(search, attempt);
  const id = userId(issuer, subject);
  const role = users.roles.roleOf(groups);
  if (role === undefined || tenantId === undefined) {
    request.log.warn({ userId: id }, 'sign-in of a person without a role');
    throw new SignInError('no_role', 'no_role', name);
  }
  await endPrevious(users, request);
  const person = { userId: id, name, role };
  const cookie = await users.signIns.create({ tenantId, ...person, idToken }, (db) =>
    recordChange(quotas, db, tenantId, personActor(person), signedInChange(person)),
  );
  request.log.info({ tenantId, userId: id, role }, 'signed in');
  return users.cookies.set('actlog-sign-in', cookie, {
    maxAgeMs: users.signIns.lifetimes.maxMs,
    sameSite: 'strict',
  });
}

/** Ends the sign-in whose cookie the new one replaces. */
async function endPrevious({ cookies, signIns }: Services['users'], request: FastifyRequest): Promise<void> {
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
  // Anything else, such as a database that is down, has its own response.
  if (!(error instanceof SignInError)) throw error;
  const { failure, reason } = error;
  if (failure !== 'no_role') request.log.warn({ failure, reason }, 'sign-in failed');
  const { status, html } = await errorPage(error, root, request.id);
  void reply.header('content-security-policy', errorPagePolicy);
  return reply.code(status).type('text/html; charset=utf-8').send(html);
}
