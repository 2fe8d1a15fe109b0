// Drives @modelcontextprotocol/sdk 1.x, which knows `initialize` only. Usage: node ts_v1.mjs URL
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { drive } from './driver.mjs';

const client = new Client({ name: 'forecourt-ts-v1', version: '1.0.0' });
const transport = new StreamableHTTPClientTransport(new URL(process.argv[2]));
const about = () => ({ protocol: transport.protocolVersion, server: client.getServerVersion() });
await drive(client, transport, about);
