import type { FastifyInstance } from 'fastify';
import { auditRequest } from '../audit/audit-request.ts';
import { signedOutChange } from '../audit/sign-in-change.ts';
import { releaseBody } from '../http/json-body.ts';
import { ApiError } from '../lib/api-error.ts';
import type { Services } from '../services.ts';
import type { OpenIdProvider } from './openid-provider.ts';

/**
 * Mounts `POST /console/api/sign-out`, which ends the sign-in of the caller. `continueAt` in the response is the address
 * at which the person signs out of the provider or the proxy; `null` if there is none.
 *
 * @param proxySignOutUrl - address at which people sign out of the proxy
 */
export function mountSignOut(
  api: FastifyInstance,
  services: Services,
  provider: OpenIdProvider | undefined,
  proxySignOutUrl: string | undefined,
): void {
  const { users } = services;
  api.route({
    method: 'POST',
    url: '/sign-out',
    onRequest: services.requestGate.hook({
      check({ user }) {
        if (user) return;
        throw new ApiError(
          'PERMISSION_DENIED',
          'Only a person who is signed in can sign out; a key is revoked.',
        );
      },
      acceptsUsers: true,
      memory: services.bodyMemory,
    }),
    handler: async (request, reply) => {
      const { caller } = request;
      releaseBody(request);
      const signIn = caller?.user?.signIn;
      if (!caller || !signIn) return reply.send({ continueAt: proxySignOutUrl ?? null });
      const author = { caller, header: (name: string) => request.headers[name]?.toString() };
      const { idToken } = await users.signIns.end(caller.tenantId, signIn.id, (db, row) =>
        auditRequest(services, db, author, signedOutChange(row)),
      );
      request.log.info({ tenantId: caller.tenantId, userId: caller.id }, 'signed out');
      void reply.header('set-cookie', users.cookies.clear('actlog-sign-in'));
      return reply.send({ continueAt: (await provider?.signOutUrl(idToken)) ?? null });
    },
  });
}
