export { Agent, Dispatcher, errors } from 'undici';
