//! Small descriptions of both versions, whole and broken.

use super::*;

const TWO: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="law" guid="{1}" version="7">
  <CoSimulation modelIdentifier="law" canGetAndSetFMUstate="true" canHandleVariableCommunicationStepSize="1"/>
  <UnitDefinitions>
    <Unit name="deg"><BaseUnit rad="1" factor="0.017453292519943295"/></Unit>
    <Unit name="odd"/>
  </UnitDefinitions>
  <TypeDefinitions><SimpleType name="Angle"><Real unit="deg"/></SimpleType></TypeDefinitions>
  <DefaultExperiment stepSize="0.02"/>
  <ModelVariables>
    <ScalarVariable name="path.lateral" valueReference="1" causality="input"><Real unit="m" start="0"/></ScalarVariable>
    <ScalarVariable name="steer" valueReference="2" causality="output"><Real declaredType="Angle"/></ScalarVariable>
    <ScalarVariable name="gear" valueReference="2" causality="output"><Integer/></ScalarVariable>
    <ScalarVariable name="done" valueReference="3"><Boolean/></ScalarVariable>
  </ModelVariables>
</fmiModelDescription>"#;

const THREE: &str = r#"<fmiModelDescription fmiVersion="3.0" modelName="law" instantiationToken="t">
  <CoSimulation modelIdentifier="law" canGetAndSetFMUState="true" canSerializeFMUState="true" fixedInternalStepSize="0.01"/>
  <TypeDefinitions><Float64Type name="Length" unit="m"/></TypeDefinitions>
  <ModelVariables>
    <Float64 name="e" valueReference="1" causality="input" declaredType="Length"><Alias name="e_alias"/></Float64>
    <Int8 name="gear" valueReference="2" causality="output"/>
    <Float64 name="array" valueReference="3" causality="output"><Dimension start="3"/></Float64>
  </ModelVariables>
</fmiModelDescription>"#;

#[test]
fn a_description_of_fmi_2_is_read() {
    let description = Description::parse(TWO).expect("a good description");
    assert_eq!((description.version, description.token.as_str()), (FmiVersion::Two, "{1}"));
    assert!(description.capabilities.saves_state && description.capabilities.variable_step);
    assert!(!description.capabilities.serialises_state && !description.capabilities.only_once);
    assert_eq!(description.step_s, Some(0.02));
    assert_eq!(description.names(Causality::Output), ["steer", "gear"]);
    let steer = description.variable("steer").expect("there");
    assert_eq!((steer.unit.as_deref(), steer.wire, steer.reference), (Some("deg"), Wire::Float64, 2));
    assert_eq!(description.variable("done").expect("there").wire, Wire::WideBoolean);
    assert_eq!(description.units["deg"].dimensions, Dimensions::default());
    assert!(!description.units.contains_key("odd"));
}

#[test]
fn a_description_of_fmi_3_is_read() {
    let description = Description::parse(THREE).expect("a good description");
    assert_eq!((description.version, description.step_s), (FmiVersion::Three, Some(0.01)));
    assert!(description.capabilities.saves_state && description.capabilities.serialises_state);
    assert_eq!(description.names(Causality::Input), ["e_alias", "e"]);
    assert_eq!(description.variable("e_alias").expect("there").unit.as_deref(), Some("m"));
    assert_eq!(description.variable("gear").expect("there").wire, Wire::Int8);
    assert!(!description.variable("array").expect("there").is_scalar);
}

#[test]
fn what_is_wrong_with_a_description_is_told_with_its_place() {
    let check = |text: &str, expect: &str| {
        let told = Description::parse(text).expect_err("broken").to_string();
        assert!(told.contains(expect), "{told}");
    };
    check(&TWO.replace("</TypeDefinitions>", ""), "modelDescription.xml:16:1");
    check(&TWO.replace("fmiVersion=\"2.0\"", "fmiVersion=\"1.0\""), "modelDescription.xml:2:1: FMI 1.0");
    check(&TWO.replace("CoSimulation", "ModelExchange"), "other uses (model exchange");
    check(&TWO.replace("\"law\" can", "\"../law\" can"), "3:3: `../law` is no name of a file");
    check(&TWO.replace("guid", "grid"), "`guid` is missing");
    check(&TWO.replace("valueReference=\"3\"", "valueReference=\"-3\""), "14:5: `valueReference` is `-3`");
    check(&TWO.replace("\"0.02\"", "\"NaN\""), "`stepSize` is `NaN`");
    check(&THREE.replace("Int8", "Int7"), "6:5: a variable of unknown type <Int7>");
    check("<!DOCTYPE a [<!ENTITY b \"c\">]><a/>", "modelDescription.xml:1:");
    check("", "modelDescription.xml:1:1");
}
