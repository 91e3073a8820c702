import type { FastifyInstance } from 'fastify';
import type { Services } from '../services.ts';
import { mountSignIn } from '../sign-in/mount-sign-in.ts';
import { openIdProvider } from '../sign-in/openid-provider.ts';
import type { SignInSettings } from '../sign-in-settings.ts';
import { mountConsoleApi } from './mount-api.ts';
import { mountConsolePage } from './page.ts';

/** Mounts the console: its page, its API, and the pages of the sign-in if people sign in by a provider. */
export async function mountConsole(
  app: FastifyInstance,
  services: Services,
  settings: SignInSettings,
): Promise<void> {
  mountConsolePage(app);
  const provider = openIdProvider(settings);
  if (provider) mountSignIn(app, services, provider);
  await mountConsoleApi(app, services, { ...settings, provider });
}
