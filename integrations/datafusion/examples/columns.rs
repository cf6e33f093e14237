//! Two tables joined on an encrypted column, and the addresses of the result decrypted.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use lanelock::Aead;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let device = lanelock::open().expect("an engine");
    let mut key = [0; 64];
    getrandom::fill(&mut key).expect("the operating system's generator");
    let context = SessionContext::new();
    context.register_udf(lanelock_datafusion::encrypt(
        "join_key",
        &device,
        Aead::AesSiv,
        &key,
    )?);
    context.register_udf(lanelock_datafusion::decrypt(
        "address",
        &device,
        Aead::AesSiv,
        &key,
    )?);

    for (table, ids, emails) in [
        (
            "users",
            [1, 2, 3],
            ["ann@example.org", "bob@example.org", "cem@example.org"],
        ),
        (
            "orders",
            [70, 71, 72],
            ["cem@example.org", "ann@example.org", "cem@example.org"],
        ),
    ] {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(ids));
        let emails: ArrayRef = Arc::new(StringArray::from_iter_values(emails));
        let batch = RecordBatch::try_from_iter([("id", ids), ("email", emails)])?;
        context.register_batch(&format!("clear_{table}"), batch)?;
        let sql = format!(
            "CREATE VIEW {table} AS SELECT id, join_key(email::bytea) AS email FROM clear_{table}"
        );
        context.sql(&sql).await?.collect().await?;
    }
    let sql = "SELECT orders.id AS order, users.id AS user, arrow_cast(address(users.email), 'Utf8') AS email \
               FROM orders JOIN users ON orders.email = users.email ORDER BY 1";
    context.sql(sql).await?.show().await
}
