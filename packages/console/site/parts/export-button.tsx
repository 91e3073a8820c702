import { useConnection } from '../connection.ts';
import { useAction } from '../use-action.ts';
import { Problem } from './problem.tsx';

/** Saves a session as a file, byte for byte as the service exports it. */
export function ExportButton({ id }: { id: string }) {
  const { client } = useConnection();
  const save = useAction(async () => {
    const response = await client.sessions.export(id).asResponse();
    const address = URL.createObjectURL(await response.blob());
    const link = document.createElement('a');
    link.href = address;
    link.download = `${id.replaceAll(/[^\w.-]+/g, '_')}.json`;
    link.click();
    URL.revokeObjectURL(address);
  });
  return (
    <>
      <button type="button" class="quiet" disabled={save.isBusy} onClick={() => save.run()}>
        Download JSON
      </button>
      <Problem error={save.error} />
    </>
  );
}
