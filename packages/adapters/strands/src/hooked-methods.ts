import { MethodHooks } from '@actlog/recorder/adapter';

/** Methods of the SDK's classes that this package replaces. */
export const hookedMethods: MethodHooks = new MethodHooks('@actlog/strands/hooked-methods');
