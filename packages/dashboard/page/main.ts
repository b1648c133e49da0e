import { App } from './app.ts';
import { folderOf } from './data/address.ts';
import { Client } from './parts/client.ts';
import { Connection } from './parts/connection.ts';

const client = new Client(folderOf(location.pathname));
const app = new App(client, () => {
  connection.retry();
});
const connection = new Connection(client, {
  onState: (state, isWhole) => {
    app.take(state, isWhole);
  },
  onChange: (change) => {
    app.noteChange(change);
  },
  onStatus: (status) => {
    app.showStatus(status);
  },
});
connection.start();
