import type { ExportProgress } from '@actlog/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { Problem } from '../problem.tsx';

/**
 * Time for which the file stays available in milliseconds: some browsers start late or ask for its name
 * first.
 */
const readableForMs = 600_000;

function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), readableForMs);
}

/** Button that downloads a session exactly as the service exports it. */
export function ExportButton({
  id,
  eventCount,
}: {
  id: string;
  /** Number of expected events. */
  eventCount: number;
}) {
  const { client } = useConnection();
  const [progress, setProgress] = useState<ExportProgress>();
  const download = useRef<AbortController>(undefined);
  useEffect(() => () => download.current?.abort(), []);
  const save = useAction(async () => {
    download.current = new AbortController();
    const { signal } = download.current;
    setProgress(undefined);
    try {
      const { blob } = await client.sessions.exportToBlob(id, { signal, onProgress: setProgress });
      if (!signal.aborted) saveFile(`${id.replaceAll(/[^\w.-]+/g, '_')}.json`, blob);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  });
  return (
    <>
      {/* A single button keeps the keyboard focus. */}
      <button
        type="button"
        class="quiet"
        onClick={({ detail }) => {
          if (!save.isBusy) save.run();
          // Ignore the second half of a double click.
          else if (detail < 2) download.current?.abort();
        }}
      >
        {save.isBusy ? 'Cancel' : 'Download JSON'}
      </button>
      <div role="status">
        {save.isBusy && (
          <small>The file is saved when the download is complete. Stay on this page until then.</small>
        )}
      </div>
      {save.isBusy && (
        <progress aria-label="Download" max={Math.max(1, eventCount)} value={progress?.events ?? 0} />
      )}
      <Problem error={save.error} />
    </>
  );
}
