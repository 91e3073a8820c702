import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading } from './empty-state.tsx';
import { Problem } from './problem.tsx';

/**
 * Returns a page whose script is loaded when the page is first opened, so that the first visit loads less.
 *
 * @param load - imports the page; called again after a failure, when the user retries
 * @param placeholder - shown while the script loads
 */
export function lazyPage<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  placeholder: VNode | null = <Loading />,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function LazyPage(props: Props) {
    const [error, setError] = useState<unknown>();
    const [attempt, setAttempt] = useState(0);
    const [shown, show] = useState(() => loaded && { page: loaded });
    useEffect(() => {
      if (shown !== undefined) return;
      load().then(
        (page) => {
          loaded = page;
          show({ page });
        },
        () => setError(new Error('This part of the page cannot be loaded.')),
      );
    }, [shown, attempt]);
    if (shown !== undefined) return <shown.page {...props} />;
    const retry = () => {
      setError(undefined);
      setAttempt(attempt + 1);
    };
    if (error !== undefined) return <Problem error={error} onRetry={retry} />;
    return placeholder;
  };
}
