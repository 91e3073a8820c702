import type { FastifyInstance } from 'fastify';
import type { Services } from '../services.ts';

/**
 * Mounts `GET /console/api/sign-in`, which needs no caller: how people can sign in, and `true` in `signedIn` if the browser
 * already is. With `noRole`, a proxy names a person who has no access.
 *
 * @param label - name of the provider; `undefined` without one
 */
export function mountSignInStatus(
  api: FastifyInstance,
  { users }: Services,
  label: string | undefined,
): void {
  api.get('/sign-in', async (request, reply) => {
    users.screen(request);
    const found = await users.find(request);
    return reply.send({
      provider: label === undefined ? null : { label },
      signedIn: found.type === 'caller',
      noRole: found.type === 'no role' ? found.name : null,
    });
  });
}
