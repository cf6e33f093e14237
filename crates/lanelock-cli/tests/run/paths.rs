//! Paths with letters that others read as separators.

use std::fs;

use super::Scene;

/// Linked with libssl, prints what is preloaded.
const PRELOADED: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
    int main(void) { const char *list = getenv(\"LD_PRELOAD\"); puts(list ? list : \"\"); return 0; }";

impl Scene {
    fn with_libssl(&self) -> String {
        let args = ["-Wl,--no-as-needed", "-lssl"];
        self.cc(PRELOADED, &args, "program")
            .to_str()
            .unwrap()
            .to_owned()
    }
}

/// Else the dynamic linker would look for `ace/lanelock.so` in the working directory.
#[test]
fn a_module_that_cannot_be_preloaded_is_refused() {
    let scene = Scene::new();
    let program = scene.with_libssl();
    for folder in ["sp ace", "co:lon"] {
        fs::create_dir(scene.path(folder)).unwrap();
        let module = scene.path(folder).join("lanelock.so");
        fs::write(&module, "a module").unwrap();
        let run = |program: &str| {
            let mut command = scene.run(&["--", program]);
            command.env("LANELOCK_PROVIDER", &module).assert()
        };
        let output = run(&program).code(2);
        let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
        let module = module.canonicalize().unwrap();
        for part in [module.to_str().unwrap(), "LD_PRELOAD", "a space or a colon"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        // Without libssl there is nothing to preload for.
        run("true").success();
    }
}

#[test]
fn what_is_preloaded_already_follows_the_module() {
    let scene = Scene::new();
    let program = scene.with_libssl();
    let module = scene.path("lanelock.so").canonicalize().unwrap();
    for (before, after) in [
        (None, format!("{}\n", module.display())),
        (
            Some("/a.so:/b.so"),
            format!("{}:/a.so:/b.so\n", module.display()),
        ),
    ] {
        let mut command = scene.run(&["--", &program]);
        command.env_remove("LD_PRELOAD");
        if let Some(before) = before {
            command.env("LD_PRELOAD", before);
        }
        let output = command.assert().success();
        assert_eq!(
            String::from_utf8(output.get_output().stdout.clone()).unwrap(),
            after
        );
    }
}

/// OpenSSL finds the object identifier of the user's file through the configuration that includes it.
#[test]
fn a_configuration_may_have_spaces_in_its_path() {
    let scene = Scene::new();
    let user = scene.path("a b:c.cnf");
    let text = "oid_section = oids\nopenssl_conf = i\n[i]\noid_section = oids\n\
                [oids]\nlanelockMarker = 1.3.6.1.4.1.99999.77\n";
    fs::write(&user, text).unwrap();
    let dump = [
        "--",
        "openssl",
        "asn1parse",
        "-genstr",
        "OID:lanelockMarker",
    ];
    let output = scene
        .run(&dump)
        .env("OPENSSL_CONF", &user)
        .assert()
        .success();
    let dump = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    assert!(dump.contains("lanelockMarker"), "{dump}");
}
