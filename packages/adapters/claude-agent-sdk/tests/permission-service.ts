import { Service } from '@actlog/adapter-suite';

/** Starts a service whose policies deny `echo` with the text `b`, and ask about the text `c`. */
export async function permissionService(): Promise<Service> {
  const service = await Service.start();
  const { policies } = service.client;
  const match = { tools: ['mcp__own__echo'] };
  const isB = 'args.text == "b"';
  await policies.create({ name: 'no b', effect: 'deny', match, condition: isB, message: 'No b.' });
  await policies.create({ name: 'ask', effect: 'require_approval', match, condition: 'args.text == "c"' });
  return service;
}

/** Returns options of an adapter with a guard that shows all arguments. */
export function guarded(service: Service) {
  return service.guarded({ showArguments: (args) => args as Record<string, unknown> });
}

/** Returns the recorded arguments and outcomes of a session. */
export async function recordedOutcomes(service: Service, sessionId: string) {
  const events = await service.storedEvents(sessionId);
  return events.map(({ payload }) => [payload?.argumentsHash, payload?.responseStatus]);
}
