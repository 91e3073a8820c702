import { Recorder } from '@actlog/recorder';

/** Delivers the contents of a spool folder. */
export async function drainSpool(url: string, spoolDir: string): Promise<void> {
  const recorder = new Recorder({
    apiKey: 'al_test_benchmark',
    baseURL: url,
    agentId: 'benchmark',
    spoolDir,
    onError: () => {},
  });
  await recorder.close();
}
