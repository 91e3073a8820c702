import { afterEach, expect, test, vi } from 'vitest';
import { createRecorder, recordMany } from './test-recorder.ts';

afterEach(() => vi.unstubAllEnvs());

test.each(['192.0.2.1:3128', 'user:secret@proxy.internal:3128', 'proxy.internal'])(
  'reports an invalid proxy of the environment without showing it: %s',
  async (address) => {
    for (const name of ['http_proxy', 'HTTP_PROXY']) vi.stubEnv(name, address);
    const told = Promise.withResolvers<Error>();
    const recorder = createRecorder('http://actlog.internal', {
      allowInsecureHttp: true,
      onError: told.resolve,
    });
    recordMany(recorder, 3);
    const error = await told.promise;
    expect(error.message).toMatch(
      /^Nothing is delivered: invalid proxy \(Invalid URL.*\)\. Set HTTPS_PROXY /,
    );
    expect(error.message).not.toContain(address);
    expect(error.cause).toBeUndefined();
    expect(recorder.stats()).toMatchObject({ pending: 3, spooled: 3, dropped: 0 });
  },
);
