import { NotFoundError } from '@actlog/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';

/** Names that a field suggests. */
export interface Suggestions {
  /** Names for the last text; undefined if the service suggests none. */
  readonly names: readonly string[] | undefined;
  /** Requests the names that contain a text. */
  request(text: string): void;
}

/** Suggests names of agents or tools while the user types. Other services than the actlog server suggest nothing. */
export function useSuggestions(field: 'agentId' | 'toolName'): Suggestions {
  const { client } = useConnection();
  const [names, setNames] = useState<readonly string[] | undefined>([]);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  return {
    names,
    request: (text) => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      const query = { field, ...(text !== '' && { contains: text.slice(0, 200) }) };
      client
        .request<{ items: readonly string[] }>('GET', '/server/v1/suggestions', {
          query,
          signal: controller.signal,
        })
        .then(
          ({ items }) => setNames(items),
          // The field works without suggestions too.
          (error) => error instanceof NotFoundError && setNames(undefined),
        );
    },
  };
}
