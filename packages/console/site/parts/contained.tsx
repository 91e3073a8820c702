import type { ComponentChildren } from 'preact';
import { useErrorBoundary } from 'preact/hooks';

/**
 * Error boundary around a part of the page: a service may return a shape that the specification leaves open and the
 * page does not know.
 */
export function Contained({ children }: { children: ComponentChildren }) {
  const [error, retry] = useErrorBoundary();
  if (error === undefined) return <>{children}</>;
  return (
    <div class="problem" role="alert">
      <p>This cannot be shown: the page does not understand the response of the service.</p>
      <p class="faint">{String(error)}</p>
      <button type="button" class="quiet" onClick={retry}>
        Try again
      </button>
    </div>
  );
}
