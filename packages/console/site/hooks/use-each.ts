import { useConnection } from '../connection.ts';
import { useLoaded } from './use-loaded.ts';

/** Maximum number of things that are loaded for one list. */
const maxLoaded = 20;

/**
 * Loads one thing for each id, such as the policy of each action in a list. Things that cannot be loaded are left out:
 * they are details, and the list is useful without them.
 *
 * @param kind - identifies the kind of thing
 * @param load - requests one thing
 */
export function useEach<Thing>(
  kind: string,
  ids: readonly (string | null | undefined)[],
  load: (
    client: ReturnType<typeof useConnection>['client'],
    id: string,
    signal: AbortSignal,
  ) => PromiseLike<Thing>,
  everyMs?: number,
): ReadonlyMap<string, Thing> {
  const { client } = useConnection();
  const wanted = [...new Set(ids.filter((id) => typeof id === 'string'))].sort().slice(0, maxLoaded);
  const { data } = useLoaded(
    kind,
    async (signal) => {
      const loaded = await Promise.allSettled(wanted.map((id) => load(client, id, signal)));
      return new Map(
        wanted.flatMap((id, index) => {
          const result = loaded[index];
          return result?.status === 'fulfilled' ? [[id, result.value] as const] : [];
        }),
      );
    },
    { everyMs, version: JSON.stringify(wanted) },
  );
  return data ?? new Map<string, Thing>();
}
